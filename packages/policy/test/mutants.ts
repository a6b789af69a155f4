import { join } from "node:path"
import { createViteServer } from "vitest/node"
import type { evaluate } from "../src/evaluate.ts"

/** Text of the engine, which stands there once, and what takes its place. */
export interface Mutation {
  readonly file: string
  readonly from: string
  readonly to: string
}

const SOURCES = join(import.meta.dirname, "..", "src")

/** Loads the engine from its sources, each time with other mutations. */
export async function openMutants() {
  let mutations: readonly Mutation[] = []
  const server = await createViteServer({
    configFile: false,
    root: join(SOURCES, "..", "..", ".."),
    logLevel: "error",
    server: { middlewareMode: true, ws: false, watch: null },
    optimizeDeps: { noDiscovery: true },
    ssr: { resolve: { conditions: ["@signalbox/source"] }, noExternal: [/^@signalbox\//] },
    plugins: [
      {
        name: "mutant",
        enforce: "pre",
        transform(code, id) {
          let mutated = code
          for (const { file, from, to } of mutations.filter((each) => id === join(SOURCES, each.file))) {
            const pieces = mutated.split(from)
            if (pieces.length !== 2) throw new Error(`${file} has ${pieces.length - 1} times: ${from}`)
            mutated = pieces.join(to)
          }
          return mutated
        },
      },
    ],
  })
  return {
    load: async (next: readonly Mutation[]): Promise<typeof evaluate> => {
      // Only the mutated files are read again, and those that import them.
      for (const { file } of [...mutations, ...next]) {
        const known = server.moduleGraph.getModuleById(join(SOURCES, file))
        if (known !== undefined) server.moduleGraph.invalidateModule(known)
      }
      mutations = next
      const loaded = await server.ssrLoadModule(join(SOURCES, "evaluate.ts"))
      return loaded["evaluate"]
    },
    close: () => server.close(),
  }
}
