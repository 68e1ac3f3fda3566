import type { PassKey } from "./types.js";

/** What a device keeps of a customer between starts. */
export interface SessionRecord {
  pass?: string;
  keys: readonly PassKey[];
  /** The newest time that the device has seen; a clock behind it was set back. */
  newest: number | undefined;
}

export const emptyRecord: SessionRecord = { keys: [], newest: undefined };

const longest = 128 * 1024;

/** What was kept; nothing if it cannot be read. The pass in it is verified again. */
export function readRecord(text: string | null | undefined): SessionRecord {
  if (!text || text.length > longest) return emptyRecord;
  try {
    const { pass, keys, newest } = JSON.parse(text) as Partial<SessionRecord>;
    if (typeof pass !== "string" || !Array.isArray(keys)) {
      return { ...emptyRecord, newest: time(newest) };
    }
    return { pass, keys, newest: time(newest) };
  } catch {
    return emptyRecord;
  }
}

function time(value: unknown): number | undefined {
  return Number.isSafeInteger(value) ? (value as number) : undefined;
}
