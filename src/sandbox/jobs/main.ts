import { Console } from 'node:console';
import { setImmediate } from 'node:timers/promises';
import type { JobReply } from '../failure.ts';
import type { JobName, Library } from '../jobs.ts';
import { JobFault } from './fault.ts';

/**
 * The program of a child. For each line of JSON on its standard input it writes one line of JSON. It is killed after the
 * first, unless the same one may ask about the same files again.
 */

const standardOutput = process.stdout;

type Job = (input: never) => unknown;

/** A function with the name of each job, and what makes the first job of a process that waits as fast as the second. */
type Functions = Partial<Record<JobName, Job>> & { rehearse?: () => Promise<void> };

const libraries: Record<Library, () => Promise<Functions>> = {
  sqlite: () => import('./sqlite.ts'),
  duckdb: () => import('./duckdb.ts'),
  documents: () => import('./documents.ts'),
  ocr: () => import('./ocr.ts'),
  scans: () => import('./scans.ts'),
};

/** Output of a library must not stand in the reply. */
globalThis.console = new Console(process.stderr);

/**
 * The other end is closed only when the platform is gone. SIGKILL, because `process.exit()` waits for a query that runs
 * in another thread.
 */
const die = (): void => {
  process.kill(process.pid, 'SIGKILL');
};

for (const event of ['end', 'close', 'error']) process.stdin.once(event, die);

let text = '';
let take: (line: string) => void = die;
process.stdin.setEncoding('utf8').on('data', (chunk) => {
  text += chunk;
  if (!text.endsWith('\n')) return;
  take(text);
  text = '';
});
/** The next line. To be called before the reply to the one before: the platform sends none earlier. */
const nextLine = (): Promise<string> =>
  new Promise((resolve) => {
    take = resolve;
  });

const failureOf = (error: unknown): JobReply => {
  if (error instanceof JobFault) {
    const { reason, message, details } = error;
    return { failure: { reason, message, details } };
  }
  // An array or buffer longer than there may be.
  const memory =
    error instanceof RangeError &&
    /allocation|Invalid (array|typed array|string) length/i.test(error.message);
  return { failure: { reason: memory ? 'memory' : 'died', message: 'the job failed' } };
};

let line = nextLine();
let isAsked = false;
void line.then(() => {
  isAsked = true;
});
const library = libraries[process.argv[2] as Library]().then(async (functions) => {
  // A line that has come is read before this.
  await setImmediate();
  if (!isAsked) await functions.rehearse?.();
  return functions;
});

for (;;) {
  const reply: JobReply = await Promise.all([line, library])
    .then(async ([text, functions]) => {
      const { job, input } = JSON.parse(text) as { job: JobName; input: never };
      return { output: await functions[job]!(input) };
    })
    .catch(failureOf);
  line = nextLine();
  // Not `writeSync`: a library may have made the pipe non-blocking, and then a reply larger than its buffer fails (EAGAIN)
  // while the platform is too busy to read it.
  standardOutput.write(`${JSON.stringify(reply)}\n`);
}
