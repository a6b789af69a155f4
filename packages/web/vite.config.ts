import tailwindcss from "@tailwindcss/vite"
import react from "@vitejs/plugin-react"
import { defineConfig, type Plugin } from "vite"

/** Vite's own way to load a part of the page cannot be repeated after a failure: `src/app/part-files.ts` says why. */
const repeatableImports: Plugin = {
  name: "repeatable-imports",
  apply: "build",
  enforce: "pre",
  load: (id) =>
    id === "\0vite/preload-helper.js"
      ? 'export { importPart as __vitePreload } from "/src/app/part-files.ts"'
      : undefined,
}

export default defineConfig({
  plugins: [repeatableImports, react(), tailwindcss()],
  // The rooms below are taken as sources: the cockpit needs no other build before its own.
  resolve: { conditions: ["@signalbox/source", "browser", "module", "import", "default"] },
  build: {
    outDir: "dist",
    target: "es2022",
    // `light-dark()` is kept as it is: it makes one list of colours do for both themes.
    cssTarget: ["chrome123", "firefox120", "safari17.5"],
    // A data: URL for every small picture would need a wider policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
})
