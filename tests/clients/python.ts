import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { testPython } from '../harness/programs.ts';

/** A Python that has the client installed (`pip install ./clients/python`), or httpx, which the client needs. */
export const python = testPython;

export const pythonEnvironment = {
  ...process.env,
  PYTHONPATH: join(import.meta.dirname, '../../clients/python/src'),
};

const isReady = (): boolean => {
  try {
    execFileSync(python!, ['-c', 'import agent_platform'], { stdio: 'ignore', env: pythonEnvironment });
    return true;
  } catch {
    return false;
  }
};

/** Why the tests of the Python client are skipped; null: they are not. */
export const missing = !python
  ? 'no Python for the tests'
  : isReady()
    ? null
    : 'no httpx in the Python of the tests';
