import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { describe, expect, it } from "vitest"
import { givenTasks, readTaskList } from "../../src/loop/task-list.ts"
import { folder } from "../signalbox-process.ts"

const LIST = `# Plans

Some words, and [ ] a box that is none.

- [ ] Fix the login
  It fails with an empty password.

  - [ ] and this is a part of it
- [x] Ticked already
  - [ ] and so is this
* [ ] Another one
1. [X] Ticked too
2. [ ] With a number
   \`\`\`sh
   - [ ] npm test
   \`\`\`

\`\`\`md
- [ ] an example
\`\`\`

- plain
  - [ ] below something that is no task
- [ ]
`

describe("the tasks of a run", () => {
  it("[LP1] are the open boxes in order, with what is below them", () => {
    expect(readTaskList(LIST)).toEqual([
      { text: "Fix the login\nIt fails with an empty password.\n\n- [ ] and this is a part of it", isTicked: false },
      { text: "Ticked already\n- [ ] and so is this", isTicked: true },
      { text: "Another one", isTicked: false },
      { text: "Ticked too", isTicked: true },
      { text: "With a number\n```sh\n- [ ] npm test\n```", isTicked: false },
      { text: "below something that is no task", isTicked: false },
    ])
    expect(readTaskList("\uFEFF- [ ] one\r\n- [ ] two\r\n").map(({ text }) => text)).toEqual(["one", "two"])
  })

  it("[LP1] come from a file, which stays as it is, or are one sentence", () => {
    const file = join(folder(), "TASKS.md")
    writeFileSync(file, LIST)
    const { title, texts, ticked } = givenTasks([file])
    expect({ title, count: texts.length, ticked }).toEqual({ title: "TASKS.md", count: 4, ticked: 2 })
    expect(readFileSync(file, "utf8")).toBe(LIST)
    expect(givenTasks(["Mend", "the", "roof"])).toEqual({ title: "Mend the roof", texts: ["Mend the roof"], ticked: 0 })
  })

  it("[LP1] a list without boxes, a file that is not there and nothing at all are refused with what to do", () => {
    const file = join(folder(), "notes.md")
    writeFileSync(file, "- one\n- two\n")
    expect(() => givenTasks([file])).toThrow('write each as a line that starts with "- [ ] "')
    expect(() => givenTasks(["missing.md"])).toThrow("can't read missing.md")
    expect(() => givenTasks([])).toThrow("give the tasks")
    expect(() => givenTasks(["x".repeat(100_001)])).toThrow("longer than 100000 characters")
  })
})
