/** "1 task", "2 tasks", "1,200 lines". */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`
}
