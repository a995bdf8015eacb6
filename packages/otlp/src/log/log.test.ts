import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from 'vitest';
import { conformance } from '../../tests/conformance.ts';
import { dieAt, revive } from '../../tests/dying-files.ts';
import { openFileLog } from './files/file-log.ts';

describe('the telemetry log in files', () => {
  conformance(async () => {
    const directory = await mkdtemp(join(tmpdir(), 'ap-log-'));
    return {
      open: () => openFileLog({ directory, segmentBytes: 1_500 }),
      settled: async () => {},
      clear: () => rm(directory, { recursive: true }),
      dieAt,
      revive,
    };
  }, 40);
});
