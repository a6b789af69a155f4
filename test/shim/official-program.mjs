// A program as somebody wrote it for the official SDK: one query, whose agent is on a hub by one door or the other. It prints
// what it gets, one JSON object a line.

/** @typedef {{ entry: string, door: "executable" | "spawn", executable: string, hub: { url: string, token: string }, agent: "claude" | "simulator", prompts: string[], options: Record<string, unknown>, tools?: boolean, hook?: boolean }} Program */

/** @type {Program} */
const program = JSON.parse(process.argv[2] ?? "{}")
const { query, tool, createSdkMcpServer } = await import(program.entry)

/** @param {object} value */
function print(value) {
  process.stdout.write(`${JSON.stringify(value)}\n`)
}

/** @type {() => void} */
let nextTurn = () => undefined

/** The next prompt when the turn before it is over. */
async function* prompts() {
  for (const text of program.prompts) {
    const done = new Promise((resolve) => {
      nextTurn = () => resolve(undefined)
    })
    yield { type: "user", session_id: "", message: { role: "user", content: text }, parent_tool_use_id: null }
    await done
  }
}

async function door() {
  const { executable, hub, agent } = program
  if (program.door === "executable") return { pathToClaudeCodeExecutable: executable }
  const { spawnOnHub } = await import("@signalbox/sdk")
  // The newer SDK looks for an executable all the same, and does not start it.
  return { pathToClaudeCodeExecutable: "claude", spawnClaudeCodeProcess: spawnOnHub({ ...hub, agent }) }
}

function hooks() {
  const hook = async (/** @type {{ tool_name: string }} */ input) => {
    print({ hook: input.tool_name })
    return {}
  }
  return { hooks: { PreToolUse: [{ hooks: [hook] }] } }
}

function servers() {
  const greet = tool("greet", "Greets", {}, async () => ({
    content: [{ type: "text", text: "hello from the program" }],
  }))
  return { mcpServers: { mine: createSdkMcpServer({ name: "mine", tools: [greet] }) } }
}

const run = query({
  prompt: prompts(),
  options: {
    ...program.options,
    ...(await door()),
    ...(program.hook === true ? hooks() : {}),
    ...(program.tools === true ? servers() : {}),
    canUseTool: async (/** @type {string} */ name, /** @type {object} */ input) => {
      print({ asked: name })
      return { behavior: "allow", updatedInput: input }
    },
    stderr: (/** @type {string} */ text) => print({ stderr: text }),
  },
})
try {
  for await (const message of run) {
    print({ message })
    if (message.type === "result") nextTurn()
  }
  print({ ended: true })
} catch (error) {
  print({ error: String(error) })
}
