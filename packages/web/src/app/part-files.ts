/** The files of this page that the browser has: the build names those of the first load in the page itself. */
const had = new Set(
  Array.from(
    document.querySelectorAll("link[rel=modulepreload], script[type=module]"),
    (element) => new URL(element.getAttribute("href") ?? element.getAttribute("src") ?? "", location.href).pathname,
  ),
)

/** The hub serves another build of the cockpit, which has no such file: only a reload helps. */
export class OtherBuild extends Error {}

async function get(path: string): Promise<void> {
  if (had.has(path)) return
  const reply = await fetch(path)
  if (reply.status === 404) throw new OtherBuild(path)
  if (!reply.ok) throw new Error(`${path}: HTTP ${reply.status}`)
  // The browser keeps a file only once it has all of it.
  await reply.arrayBuffer()
  had.add(path)
}

/**
 * Fetches the files of a lazily loaded part, then imports it; the build calls this in place of Vite's own helper. Many browsers
 * remember a failed import until the page is reloaded, that of a shared file too (the HTML standard changed in 2026, they follow
 * one by one). A failed `fetch` can be repeated, and the import that follows a good one finds every file in the browser's cache.
 */
export async function importPart<T>(load: () => Promise<T>, files: readonly string[] = []): Promise<T> {
  await Promise.all(files.map((file) => get(`/${file}`)))
  return load()
}
