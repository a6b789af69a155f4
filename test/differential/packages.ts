import { execFile } from "node:child_process"
import { cp, mkdir, rm, symlink, writeFile } from "node:fs/promises"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { ensureOfficialSdk } from "../../scripts/official-sdk.mjs"
import { root, tool } from "../../scripts/setup.mjs"

const here = dirname(fileURLToPath(import.meta.url))
export const fakesFolder = join(here, "fakes")
export const programsFolder = join(here, "programs")

/** The programs compiled against one package. */
export interface CompiledPrograms {
  readonly name: string
  /** What the compiler said; empty when every program compiles. */
  readonly problems: readonly string[]
  readonly main: string
  fileOf(program: string): string
  remove(): Promise<void>
}

/** The room and the simulator as their users get them. What cannot be built shows when the programs are compiled. */
export async function buildRooms(): Promise<void> {
  await compilerOutput(["-b", join(root, "packages/simulator"), join(root, "packages/sdk")])
}

/** What a user's project may ask of the compiler beyond `strict`. */
interface Stricter {
  readonly exactOptionalPropertyTypes?: boolean
}

interface ForOurs extends Stricter {
  /** The official version whose companion, the API's client, the programs take types from; none unless given. */
  readonly beside?: string
}

export async function compileForOurs(
  programs: readonly string[],
  { beside, ...stricter }: ForOurs = {},
): Promise<CompiledPrograms> {
  const link = async (modules: string) => {
    await mkdir(join(modules, "@anthropic-ai"), { recursive: true })
    // The program's import line stays as it is; what it finds there is our package.
    await symlink(join(root, "packages/sdk"), join(modules, "@anthropic-ai/claude-agent-sdk"))
    if (beside === undefined) return
    const { directory } = await ensureOfficialSdk(beside)
    await symlink(join(directory, "node_modules/@anthropic-ai/sdk"), join(modules, "@anthropic-ai/sdk"))
  }
  return compile({ name: "ours", programs, link, stricter })
}

export async function compileForOfficial(
  version: string,
  programs: readonly string[],
  stricter: Stricter = {},
): Promise<CompiledPrograms> {
  const { directory } = await ensureOfficialSdk(version)
  const link = (modules: string) => symlink(join(directory, "node_modules"), modules)
  return compile({ name: `official-${version}`, programs, link, stricter })
}

interface Compilation {
  readonly name: string
  readonly programs: readonly string[]
  readonly link: (modules: string) => Promise<void>
  readonly stricter: Stricter
}

/** Copies the programs beside a `node_modules` in which their import line leads to the package, and compiles there. */
async function compile({ name, programs, link, stricter }: Compilation): Promise<CompiledPrograms> {
  // Two runs of the suite at once must not write over each other.
  const folder = join(here, "dist", `${name}-${process.pid}`)
  await rm(folder, { recursive: true, force: true })
  const source = join(folder, "source")
  await mkdir(join(source, "programs"), { recursive: true })
  await link(join(folder, "node_modules"))
  for (const file of ["program-context.ts", "child-main.ts", ...programs.map((program) => `programs/${program}.ts`)])
    await cp(join(here, file), join(source, file))
  await writeFile(join(folder, "package.json"), '{ "type": "module" }\n')
  const { compilerOptions, include } = compilerSettings
  const settings = { compilerOptions: { ...compilerOptions, ...stricter }, include }
  await writeFile(join(folder, "tsconfig.json"), JSON.stringify(settings, null, 2))
  const problems = await compilerOutput(["-p", folder])
  return {
    name,
    problems,
    main: join(folder, "run", "child-main.js"),
    fileOf: (program) => join(folder, "run", "programs", `${program}.js`),
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

/** As a user's project in strict mode has it; nothing of this repository's own settings. */
const compilerSettings = {
  compilerOptions: {
    target: "ES2023",
    lib: ["ES2023", "ESNext.Disposable", "DOM"],
    module: "NodeNext",
    moduleResolution: "NodeNext",
    typeRoots: [join(root, "node_modules/@types")],
    types: ["node"],
    strict: true,
    noUncheckedIndexedAccess: true,
    verbatimModuleSyntax: true,
    rewriteRelativeImportExtensions: true,
    skipLibCheck: true,
    rootDir: "source",
    outDir: "run",
  },
  include: ["source"],
}

/** The compiler's complaints. It writes the JavaScript all the same, so that the programs can still be run. */
async function compilerOutput(args: string[]): Promise<string[]> {
  try {
    await promisify(execFile)(tool("tsc"), args, { cwd: root, maxBuffer: 16 * 1024 * 1024 })
    return []
  } catch (error) {
    // execFile rejects with the output on the error.
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string }
    const lines = `${stdout}${stderr}`.split("\n").filter((line) => line.trim() !== "")
    return lines.length > 0 ? lines : [String(error)]
  }
}
