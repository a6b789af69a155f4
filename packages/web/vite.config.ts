import tailwindcss from "@tailwindcss/vite"
import react from "@vitejs/plugin-react"
import { defineConfig } from "vite"

export default defineConfig({
  plugins: [react(), tailwindcss()],
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
