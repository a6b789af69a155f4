/** Hands a file to the browser's downloads: nothing of it is opened here. */
export function saveFile(file: File): void {
  const url = URL.createObjectURL(file)
  const link = document.createElement("a")
  link.href = url
  link.download = file.name
  link.click()
  // The download has the address by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000)
}
