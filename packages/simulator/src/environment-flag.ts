/** As a CLI reads a variable that turns something on: any other word leaves it off. */
export function isOn(value: string | undefined): boolean {
  return ["1", "true", "yes", "on"].includes(value?.trim().toLowerCase() ?? "")
}
