import { ApiProblem } from '../../api/request.ts';
import { agents as words } from '../../text/en/agents.ts';

const units = { d: 86_400, h: 3_600, min: 60, s: 1 } as const;
type Unit = keyof typeof units;

const unitOf = (text: string): Unit =>
  /^d/i.test(text) ? 'd' : /^h/i.test(text) ? 'h' : /^m/i.test(text) ? 'min' : 's';

/** A time as people write it: `4 h`, `1 h 30 min`; '' for none. */
export const timeoutText = (seconds: number | null): string => {
  if (seconds === null) return '';
  let rest = seconds;
  const parts: string[] = [];
  for (const [unit, size] of Object.entries(units)) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) parts.push(`${count} ${unit}`);
  }
  return parts.join(' ') || `0 s`;
};

/** The seconds of `4 h`, `1 d 12 h` or `90`; null for an empty text. Throws the fault of its field. */
export const readTimeout = (text: string): number | null => {
  if (text.trim() === '') return null;
  const part = /\s*(\d+(?:\.\d+)?)\s*(s|sec|seconds?|m|min|minutes?|h|hours?|d|days?)?(?=[\s\d]|$)/iy;
  let seconds = 0;
  while (part.lastIndex < text.trimEnd().length) {
    const found = part.exec(text.trimEnd());
    if (!found) {
      const details = [{ path: 'approval_timeout_seconds', message: words.decideWithinFault }];
      throw new ApiProblem(422, { details });
    }
    seconds += Number(found[1]) * units[unitOf(found[2] ?? 's')];
  }
  return Math.round(seconds);
};
