import { it } from "vitest"
import { PINNED } from "../../scripts/claude-cli.mjs"
import { runsNow } from "../gate.ts"

type Road = "stdio" | "websocket" | "hybrid"

/** One CLI version on one transport: the real one, or the simulator in its place. */
export interface Cell {
  readonly version: string
  readonly road: Road
  readonly name: string
  readonly isSimulated?: boolean
}

/** `--sdk-url` takes our address up to this version; newer ones accept only their vendor's hosts. */
const LAST_THAT_DIALS = 120

/** The roads that are tried on a version; hybrid POST only on 2.1.37, where it behaves most strangely. */
function roadsOf(version: string): Road[] {
  const patch = Number(version.split(".")[2])
  if (!version.startsWith("2.1.") || patch > LAST_THAT_DIALS) return ["stdio"]
  return version === "2.1.37" ? ["stdio", "websocket", "hybrid"] : ["stdio", "websocket"]
}

/** The drift report runs the same suite on one version that it names. */
export const driftVersion = process.env["SIGNALBOX_DRIFT_VERSION"]

const realCells: readonly Cell[] = (driftVersion === undefined ? PINNED : [driftVersion]).flatMap((version) =>
  roadsOf(version).map((road) => ({ version, road, name: `${version} ${road}` })),
)

/** The simulator is held to every case that its version passes. */
const simulatedCells = realCells.map((cell) => ({ ...cell, name: `${cell.name} simulated`, isSimulated: true }))

const cells: readonly Cell[] = driftVersion === undefined ? [...realCells, ...simulatedCells] : realCells

export interface CaseOptions {
  /** Left out: all. */
  readonly roads?: readonly Road[]
  readonly versions?: readonly string[]
}

/** Registers a case on every cell it applies to and that the gate or the full run asks for. */
export function conformance(name: string, run: (cell: Cell) => Promise<void>, options: CaseOptions = {}): void {
  for (const cell of cells) {
    if (!applies(cell, options)) continue
    if (driftVersion === undefined && !runsNow(cell.name, name)) continue
    it(`${cell.name}: ${name}`, { timeout: 180_000 }, () => run(cell))
  }
}

function applies(cell: Cell, { roads, versions }: CaseOptions): boolean {
  if (roads !== undefined && !roads.includes(cell.road)) return false
  // A version that is not pinned is expected to behave as the pinned one of its generation.
  return versions === undefined || versions.some((version) => generationOf(version) === generationOf(cell.version))
}

function generationOf(version: string): string {
  if (version === "2.1.37") return version
  return roadsOf(version).length === 1 ? "newest" : "2.1.120"
}

/** Whether this cell behaves as the generation of 2.1.325 does; every version that cannot dial is taken for one. */
export function isNew(cell: Cell): boolean {
  return !isOldest(cell) && roadsOf(cell.version).length === 1
}

/** Whether this cell behaves as 2.1.37 does. */
export function isOldest(cell: Cell): boolean {
  return cell.version === "2.1.37"
}
