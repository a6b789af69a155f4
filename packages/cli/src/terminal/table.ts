import type { CommandContext } from "../base/context.ts"
import { type Colours, coloursFor, print, widthOf } from "./output.ts"
import { cellWidth, cutCells, wrapCells } from "./text.ts"

export interface Column<Row> {
  readonly title: string
  readonly text: (row: Row) => string
  readonly paint?: (text: string, row: Row) => string
  /** Takes what the others leave; there is one at most. */
  readonly isWide?: boolean
  readonly isRight?: boolean
}

const GAP = "  "
const MIN_WIDE = 12

export function printTable<Row>(
  { stdout, env }: CommandContext,
  rows: readonly Row[],
  columnsFor: (colours: Colours) => readonly Column<Row>[],
  below: (row: Row, colours: Colours) => readonly string[] = () => [],
): Promise<void> {
  const colours = coloursFor(stdout, env)
  const style = { width: widthOf(stdout), title: colours.dim, below: (row: Row) => below(row, colours) }
  return print(stdout, tableText(rows, columnsFor(colours), style))
}

interface TableStyle<Row> {
  readonly width: number
  readonly title?: (text: string) => string
  /** Lines that belong to a row and fit no column. */
  readonly below?: (row: Row) => readonly string[]
}

/** Plain columns, as wide as they need to be; on a terminal no wider than it is. */
export function tableText<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { width, title = (text) => text, below = () => [] }: TableStyle<Row>,
): string {
  const cells = rows.map((row) => columns.map((column) => column.text(row)))
  const needed = columns.map((column, index) =>
    Math.max(...[column.title, ...cells.map((row) => row[index] ?? "")].map(cellWidth)),
  )
  const others = needed.reduce((sum, each, index) => sum + GAP.length + (columns[index]?.isWide === true ? 0 : each), 0)
  const widths = columns.map((column, index) => {
    const own = needed[index] ?? 0
    return column.isWide === true ? Math.min(own, Math.max(MIN_WIDE, width - others)) : own
  })
  const line = (texts: readonly string[], paint: (text: string, index: number) => string) =>
    texts
      .map((text, index) => {
        const size = widths[index] ?? 0
        const short = cutCells(text, size)
        const space = " ".repeat(Math.max(0, size - cellWidth(short)))
        const painted = paint(short, index)
        if (columns[index]?.isRight === true) return space + painted
        return index === columns.length - 1 ? painted : painted + space
      })
      .join(GAP)
      .trimEnd()
  const head = line(
    columns.map((column) => column.title),
    title,
  )
  const body = rows.flatMap((row, at) => [
    line(cells[at] ?? [], (text, index) => columns[index]?.paint?.(text, row) ?? text),
    ...below(row).flatMap((text) => wrapCells(text, width - GAP.length).map((part) => `${GAP}${part}`)),
  ])
  return `${[head, ...body].join("\n")}\n`
}
