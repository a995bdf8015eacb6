import { writeSync } from 'node:fs';
import { type LoggerOptions, type Logger as PinoLogger, pino } from 'pino';

export type Logger = PinoLogger;

const standardOutput = 1;
const pause = new Int32Array(new SharedArrayBuffer(4));

/**
 * Writes whole lines to standard output, between those of the logger. Returns when the system has all of them, so that
 * they outlive this process; until then it blocks, as the logger does. Throws if no one reads them any more (EPIPE).
 */
export const writeLines = (lines: string): void => {
  let rest = Buffer.from(lines);
  while (rest.length > 0) {
    try {
      rest = rest.subarray(writeSync(standardOutput, rest));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      Atomics.wait(pause, 0, 0, 10);
    }
  }
};

/**
 * Loses what cannot be written: the platform goes on if no one reads its log any more. Pino's own stream tried such a
 * line (EPIPE) again and again when the process exited, so that SIGTERM never ended it.
 */
const stream = {
  write: (line: string): void => {
    try {
      writeLines(line);
    } catch {}
  },
};

/** Makes a logger of JSON lines; `pretty` is for a terminal. A `Secret` (crypto.ts) is redacted. */
export const createLogger = (level: string, pretty = false): Logger => {
  const options: LoggerOptions = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
  };
  if (!pretty) return pino(options, stream);
  const transport = { target: 'pino-pretty', options: { translateTime: 'HH:MM:ss.l' } };
  return pino({ ...options, transport });
};

/** A logger that writes nothing. */
export const silentLogger: Logger = pino({ level: 'silent' });
