export interface Colours {
  readonly bold: Paint
  readonly dim: Paint
  readonly red: Paint
  readonly green: Paint
  readonly yellow: Paint
  readonly cyan: Paint
}

type Paint = (text: string) => string

const CODES: Readonly<Record<keyof Colours, readonly [number, number]>> = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
}

/** Colours on a terminal only, and never where NO_COLOR is set. */
export function coloursFor(stream: { readonly isTTY?: boolean }, env: NodeJS.ProcessEnv): Colours {
  const noColor = env["NO_COLOR"]
  const wanted = stream.isTTY === true && (noColor === undefined || noColor === "") && env["TERM"] !== "dumb"
  const paint = (name: keyof Colours): Paint => {
    const [on, off] = CODES[name]
    return wanted ? (text) => `\u001b[${on}m${text}\u001b[${off}m` : (text) => text
  }
  return {
    bold: paint("bold"),
    dim: paint("dim"),
    red: paint("red"),
    green: paint("green"),
    yellow: paint("yellow"),
    cyan: paint("cyan"),
  }
}
