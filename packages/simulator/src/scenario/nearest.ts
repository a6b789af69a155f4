/** The word that was probably meant, if one is near enough. */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  const limit = Math.max(1, Math.floor(word.length / 3))
  let best: { name: string; distance: number } | undefined
  for (const name of known) {
    const distance = name.toLowerCase() === word.toLowerCase() ? 0 : editDistance(word, name)
    if (distance <= limit && (best === undefined || distance < best.distance)) best = { name, distance }
  }
  return best?.name
}

/** Letters added, left out, changed, or swapped with their neighbour. */
function editDistance(a: string, b: string): number {
  if (Math.abs(a.length - b.length) > a.length) return a.length
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, column) => column)]
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const changes = [at(rows, i - 1, j) + 1, (row[j - 1] ?? 0) + 1, at(rows, i - 1, j - 1) + (same ? 0 : 1)]
      if (swapped) changes.push(at(rows, i - 2, j - 2) + 1)
      row.push(Math.min(...changes))
    }
    rows.push(row)
  }
  return at(rows, a.length, b.length)
}

function at(rows: readonly (readonly number[])[], i: number, j: number): number {
  return rows[i]?.[j] ?? 0
}
