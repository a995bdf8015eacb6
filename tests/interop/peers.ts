import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'vitest';

/** The real products of `tests/interop/install.sh`, and the programs that start them. */
const programs = {
  phoenix: 'phoenix/bin/phoenix',
  keycloak: 'keycloak/bin/kc.sh',
  jaeger: 'jaeger',
} as const;

const folder = process.env.INTEROP_PEERS ?? join(import.meta.dirname, '../../node_modules/.cache/interop');

/** Tests with a real product: `tests` gets the path of its program. Skipped, visibly, where it is not installed. */
export const describeWith = (peer: keyof typeof programs, tests: (program: string) => void): void => {
  const program = join(folder, programs[peer]);
  const installed = existsSync(program);
  const why = installed ? '' : ` (skipped: not installed; tests/interop/install.sh ${peer} installs it)`;
  describe.skipIf(!installed)(`${peer}${why}`, () => tests(program));
};

/** The JSON of another product, read field by field. */
// biome-ignore lint/suspicious/noExplicitAny: its shape is not ours
export const jsonOf = async (response: Response | Promise<Response>): Promise<any> => (await response).json();
