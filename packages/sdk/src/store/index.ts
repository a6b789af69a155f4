export { resumeFromStore } from "./stored-resume.ts"
export { configFolder } from "./transcript-key.ts"
export { TranscriptMirror } from "./transcript-mirror.ts"
