/** Addresses of hubs on one store: one, several with commas between them, or a list of such. A lone comma leaves an empty one. */
export function listedAddresses(given: string | readonly string[]): readonly string[] {
  const texts = typeof given === "string" ? [given] : given
  return [...new Set(texts.flatMap((text) => text.split(",")).map((text) => text.trim().replace(/\/+$/, "")))]
}

/** Which of several addresses is used now: the first, until it fails; then the next one, until that fails; and so on, around. */
export class AddressTurn {
  #at = 0

  now<Address>(listed: readonly Address[]): Address | undefined {
    return listed[this.#at % listed.length]
  }

  /** Only the address in use can fail: what others learn of it later changes nothing. */
  failed<Address>(address: Address, listed: readonly Address[]): void {
    if (this.now(listed) === address) this.#at = (this.#at + 1) % listed.length
  }
}
