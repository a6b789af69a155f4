/** A tool's name as people read it: `fetch_page` is `Fetch Page`. */
export function displayName(tool: string): string {
  return tool
    .split(/[_-]+/)
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join(" ")
}
