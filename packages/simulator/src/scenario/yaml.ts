import { isNode, LineCounter, parseDocument } from "yaml"

// The one file that knows YAML. JSON is YAML, so both kinds of scenario come through here, with their lines.

export interface YamlSource {
  readonly value: unknown
  /** What makes it no YAML at all. */
  readonly problems: readonly { line: number; message: string }[]
  /** The line of the value at this path, or of the nearest one that is there. */
  lineOf(path: readonly (string | number)[]): number
}

export function readYaml(text: string): YamlSource {
  const counter = new LineCounter()
  const document = parseDocument(text, { lineCounter: counter, prettyErrors: false })
  const lineAt = (offset: number) => Math.max(1, counter.linePos(offset).line)
  const problems = document.errors.map(({ pos, message }) => ({ line: lineAt(pos[0]), message }))
  return {
    value: problems.length > 0 ? undefined : document.toJS(),
    problems,
    lineOf(path) {
      for (let length = path.length; length > 0; length--) {
        const node = document.getIn(path.slice(0, length), true)
        if (isNode(node) && node.range) return lineAt(node.range[0])
      }
      return 1
    },
  }
}
