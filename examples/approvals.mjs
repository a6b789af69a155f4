// Permission in the terminal: y lets the tool run, n refuses it, anything else is passed to the agent as the reason.
import { createInterface } from "node:readline/promises"
import { query } from "@signalbox/sdk"

const terminal = createInterface({ input: process.stdin, output: process.stdout })

const run = query({
  prompt: process.argv[2] ?? "Make a file named made.txt.",
  options: {
    async canUseTool(tool, input, { signal }) {
      const answer = (await terminal.question(`${tool} ${JSON.stringify(input)} [y/n] `, { signal })).trim()
      if (answer === "y") return { behavior: "allow", updatedInput: input }
      return { behavior: "deny", message: answer === "n" ? "The user said no." : answer }
    },
  },
})

for await (const message of run)
  if (message.type === "result" && message.subtype === "success") console.log(message.result)
terminal.close()
