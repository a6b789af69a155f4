import type { Directory } from "../store/directory.ts"

export interface DirectorySetup {
  readonly directory: Directory
  /** Releases what the setup opened. */
  dispose(): Promise<void>
  /** Closes the directory in good order and opens it again on what it left. Absent where nothing outlives the process. */
  readonly reopen?: () => Promise<Directory>
}
