import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { isBuilt, projectRoot } from '../lib/build.ts';
import type { Library } from './jobs.ts';

/** The libraries that are native code, which Node loads only with `--allow-addons`. */
const withAddons: readonly Library[] = ['duckdb', 'scans'];

/**
 * Paths that a child may read besides its folder. Not the project itself: the default DATA_DIR, with its key, is below it.
 */
const readable = [
  ...['src', 'packages', 'package.json', ...(isBuilt ? ['dist/jobs'] : [])].map((name) =>
    join(projectRoot, name),
  ),
  realpathSync(join(projectRoot, 'node_modules')),
];
/** Jobs of the build start with less than half of the processor time, because no types have to be stripped. */
const jobsFolder = isBuilt ? join(projectRoot, 'dist', 'jobs') : join(import.meta.dirname, 'jobs');
const extension = isBuilt ? 'js' : 'ts';
const jobProgram = join(jobsFolder, `main.${extension}`);
const noNetwork = pathToFileURL(join(jobsFolder, `no-network.${extension}`)).href;

/**
 * Limits that the kernel holds: no core dump (it would contain the document), no file over 2 GB, 600 s of processor
 * time. With `setpriv` (Linux) the kernel kills the child when the platform dies; the second shell ends at once if it
 * died before that was asked for. Without `setpriv` a child notices that its standard input has ended, which a job that
 * never returns to the event loop does not. `env -i` removes what the shell adds.
 */
const script = `ulimit -c 0; ulimit -f 4194304; ulimit -t 600
if setpriv --pdeathsig KILL true 2>/dev/null; then
  exec setpriv --pdeathsig KILL /bin/sh -c '[ "$PPID" = "$0" ] && exec env -i "$@"' ${process.pid} "$@"
fi
exec env -i "$@"`;

/**
 * The command line of a child for one job of `library` in `folder`. Node's permission model refuses processes, workers
 * and all other files to JavaScript, and `no-network.ts` the network. Neither binds native code, which has its own
 * settings in the job.
 */
export const childCommand = (
  library: Library,
  folder: string,
  program = jobProgram,
): [command: string, args: string[]] => [
  '/bin/sh',
  [
    '-c',
    script,
    'sh',
    process.execPath,
    '--permission',
    ...[...readable, program, folder].map((path) => `--allow-fs-read=${path}`),
    `--allow-fs-write=${folder}`,
    ...(withAddons.includes(library) ? ['--allow-addons'] : []),
    '--disallow-code-generation-from-strings',
    '--max-old-space-size=512',
    '--no-warnings',
    `--import=${noNetwork}`,
    program,
    library,
  ],
];
