import { execFileSync } from "node:child_process"
import { writeFileSync } from "node:fs"

export interface Shot {
  readonly name: string
  /** How many rules of accessibility it breaks. */
  readonly violations: number
}

/** One page with every picture, for a person to judge. */
export function writeContactSheet(file: string, title: string, shots: readonly Shot[]): void {
  const figures = shots.map(
    ({ name, violations }) =>
      `<figure><a href="${name}.png"><img src="${name}.png" alt="${name}" loading="lazy"></a><figcaption>${name}, axe: ${violations}</figcaption></figure>`,
  )
  const style =
    "body{font:14px system-ui;margin:24px}main{display:grid;grid-template-columns:repeat(auto-fill,minmax(380px,1fr));gap:24px;align-items:end}img{max-width:100%;border:1px solid #ccc}figure{margin:0}"
  writeFileSync(
    file,
    `<!doctype html><meta charset="utf-8"><title>${title}</title><style>${style}</style><h1>${title}</h1><p>${commit()}</p><main>\n${figures.join("\n")}\n</main>\n`,
  )
}

function commit(): string {
  try {
    return execFileSync("git", ["describe", "--always", "--dirty"], { encoding: "utf8", stdio: "pipe" }).trim()
  } catch {
    return "of no commit"
  }
}
