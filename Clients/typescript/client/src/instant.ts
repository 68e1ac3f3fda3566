const form = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

/** The milliseconds since 1970 of an RFC 3339 time; undefined for any other text. */
export function instant(text: unknown): number | undefined {
  const match = typeof text === "string" ? form.exec(text) : null;
  if (!match) return undefined;
  const part = (index: number) => Number(match[index] ?? 0);
  const milliseconds = Number((match[7] ?? "").padEnd(3, "0").slice(0, 3));
  const local = Date.UTC(part(1), part(2) - 1, part(3), part(4), part(5), part(6), milliseconds);
  const date = new Date(local);
  const exists = date.getUTCMonth() === part(2) - 1 && date.getUTCDate() === part(3)
    && part(4) < 24 && part(5) < 60 && part(6) < 60;
  if (!exists || part(9) > 23 || part(10) > 59) return undefined;
  const offset = (part(9) * 60 + part(10)) * 60_000;
  return match[8] === "-" ? local + offset : local - offset;
}
