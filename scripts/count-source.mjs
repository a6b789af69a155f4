// Counts our source: files and lines under packages/*/src, without comments, blank lines, JSON, generated files and
// `testing/`. `node scripts/count-source.mjs` counts the working tree; with a commit, both and the difference.
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { root } from "./setup.mjs"

/** @typedef {{ files: number, lines: number }} Count */

const SOURCE = /^packages\/([^/]+)\/src\/(?!(?:.*\/)?testing\/).*(?<!\.generated)\.(?:tsx?|[cm]?js|css)$/

/** @param {string[]} args */
function git(args, input = "") {
  return execFileSync("git", args, { cwd: root, input, encoding: "utf8", maxBuffer: 2 ** 30 })
}

/**
 * Lines of code. A comment counts as one when it has its lines to itself, as the formatter leaves them.
 * @param {string} text
 */
function codeLines(text) {
  let isInComment = false
  return text.split("\n").filter((raw) => {
    const line = raw.trim()
    const isComment = isInComment || /^(?:\/\/|\{?\/\*)/.test(line)
    if (isInComment || /^\{?\/\*/.test(line)) isInComment = !line.includes("*/")
    return line !== "" && !isComment
  }).length
}

/** @param {string} commit */
function textsOfCommit(commit) {
  const names = git(["ls-tree", "-r", "--name-only", commit, "packages"])
    .split("\n")
    .filter((name) => SOURCE.test(name))
  const asked = names.map((name) => `${commit}:${name}\n`).join("")
  let rest = Buffer.from(git(["cat-file", "--batch"], asked))
  return names.map((name) => {
    // Each answer is "hash blob bytes", the file, and an empty line's end.
    const start = rest.indexOf("\n") + 1
    const end = start + Number(rest.subarray(0, start).toString().split(" ")[2])
    const text = rest.subarray(start, end).toString()
    rest = rest.subarray(end + 1)
    return { name, text }
  })
}

function textsOfTree() {
  const names = git(["ls-files", "--cached", "--others", "--exclude-standard", "packages"]).split("\n")
  const deleted = new Set(git(["ls-files", "--deleted", "packages"]).split("\n"))
  return names
    .filter((name) => SOURCE.test(name) && !deleted.has(name))
    .map((name) => ({ name, text: readFileSync(join(root, name), "utf8") }))
}

/** @param {readonly { name: string, text: string }[]} texts @returns {Map<string, Count>} */
function countByRoom(texts) {
  const rooms = new Map([["all", { files: 0, lines: 0 }]])
  for (const { name, text } of texts) {
    const lines = codeLines(text)
    for (const room of [SOURCE.exec(name)?.[1] ?? "", "all"]) {
      const before = rooms.get(room) ?? { files: 0, lines: 0 }
      rooms.set(room, { files: before.files + 1, lines: before.lines + lines })
    }
  }
  return rooms
}

/** @param {number} now @param {number} before */
function change(now, before) {
  const percent = before === 0 ? "new" : `${((100 * (now - before)) / before).toFixed(1)} %`
  return `${now - before > 0 ? "+" : ""}${now - before} (${percent})`
}

/** @param {string | undefined} commit */
function report(commit) {
  const now = countByRoom(textsOfTree())
  const before = commit === undefined ? undefined : countByRoom(textsOfCommit(commit))
  const names = [...new Set([...(before?.keys() ?? []), ...now.keys()])].sort()
  const table = names.map((room) => {
    const [was, is] = [before?.get(room) ?? { files: 0, lines: 0 }, now.get(room) ?? { files: 0, lines: 0 }]
    if (before === undefined) return { room, files: is.files, lines: is.lines }
    return {
      room,
      [`files at ${commit}`]: was.files,
      files: is.files,
      "files changed": change(is.files, was.files),
      [`lines at ${commit}`]: was.lines,
      lines: is.lines,
      "lines changed": change(is.lines, was.lines),
    }
  })
  console.table(table)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) report(process.argv[2])
