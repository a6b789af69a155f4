import { realpath } from "node:fs/promises"

/** Whether two paths lead to one folder, links resolved. */
export async function isSamePlace(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([one, other].map((path) => realpath(path).catch(() => path)))
  return a === b
}
