import { describe, expect, it } from "vitest"
import { abbreviateHome } from "../../src/fleet/machine-store.tsx"

describe("the name of a folder", () => {
  it.each([
    ["/home/ada/api", "/home/ada", "~/api"],
    ["/home/ada", "/home/ada", "~"],
    ["/home/adam/api", "/home/ada", "/home/adam/api"],
    ["/srv/api", "/home/ada", "/srv/api"],
    ["/srv/api", undefined, "/srv/api"],
    ["/srv/api", "/", "/srv/api"],
    ["/home/ada/api", "/home/ada/", "~/api"],
    ["/home/ada", "/home/ada/", "~"],
  ])("%s with the home %s is %s", (path, home, words) => {
    expect(abbreviateHome(path, home)).toBe(words)
  })
})
