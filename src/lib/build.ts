import { realpathSync } from 'node:fs';
import { join, sep } from 'node:path';

/** The folder of the project. */
export const projectRoot = realpathSync(join(import.meta.dirname, '..', '..'));

/**
 * Whether this runs from `dist` (tools/program.ts), which is of these sources then. The build rewrites `dirname` and
 * `url`, not `filename`.
 */
export const isBuilt = import.meta.filename.startsWith(join(projectRoot, 'dist', sep));
