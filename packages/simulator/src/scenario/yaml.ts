import { isMap, isNode, isScalar, LineCounter, parseDocument } from "yaml"

// The one file that knows YAML. JSON is YAML, so both kinds of scenario come through here, with their lines.

export interface YamlSource {
  readonly value: unknown
  /** The mistakes that make it no YAML at all. */
  readonly problems: readonly { line: number; message: string }[]
  /** The line of the key or item at this path, or of the nearest one that is there. */
  lineOf(path: readonly (string | number)[]): number
}

type Path = readonly (string | number)[]

const ADVICE: Readonly<Record<string, string>> = {
  DUPLICATE_KEY: "this key stands twice in the same object: keep one of them",
  TAB_AS_INDENT: "tabs cannot indent YAML: use spaces",
  MULTIPLE_DOCS: "a second document begins here: a file holds one scenario, so take out the `---`",
  BAD_ALIAS: "a value that begins with * names another one: put it in quotes",
  MULTILINE_IMPLICIT_KEY: "a text that goes over lines, or has a colon in it, must be in quotes or begin with |",
  BLOCK_AS_IMPLICIT_KEY: "a text with a colon in it must be in quotes",
}

export function readYaml(text: string): YamlSource {
  const counter = new LineCounter()
  const document = parseDocument(text, { lineCounter: counter, prettyErrors: false })
  const lineAt = (offset: number) => Math.max(1, counter.linePos(offset).line)
  const problems = document.errors.map((error) => ({
    line: lineAt(error.pos[0]),
    message: `not YAML: ${ADVICE[error.code] ?? error.message}`,
  }))
  const offsetOf = (path: Path): number | undefined => {
    const parent = document.getIn(path.slice(0, -1), true)
    const pair = isMap(parent) ? parent.items.find(({ key }) => isScalar(key) && key.value === path.at(-1)) : undefined
    const node = pair === undefined ? document.getIn(path, true) : pair.key
    return isNode(node) ? node.range?.[0] : undefined
  }
  return {
    ...(problems.length > 0
      ? { value: undefined, problems }
      : readValue(document, (name) => lineAt(text.indexOf(`*${name}`)))),
    lineOf(path) {
      for (let length = path.length; length > 0; length--) {
        const offset = offsetOf(path.slice(0, length))
        if (offset !== undefined) return lineAt(offset)
      }
      return 1
    },
  }
}

export { stringify as writeYaml } from "yaml"

/** The parser throws for a name that stands for nothing, and for names of names that stand for more than memory holds. */
function readValue(
  document: { toJS(): unknown },
  lineOfAlias: (name: string) => number,
): Pick<YamlSource, "value" | "problems"> {
  try {
    return { value: document.toJS(), problems: [] }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    const name = /^Unresolved alias .*: (\S+)$/.exec(message)?.[1]
    const problem =
      name === undefined
        ? { line: 1, message: `not YAML: ${message}` }
        : { line: lineOfAlias(name), message: `not YAML: ${ADVICE["BAD_ALIAS"]}` }
    return { value: undefined, problems: [problem] }
  }
}
