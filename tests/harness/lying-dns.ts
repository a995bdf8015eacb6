/**
 * For `NODE_OPTIONS=--import`: names look-ups answer by LYING_DNS, `{"HOST": [["ADDRESS", …], …]}`, a list of addresses
 * for each look-up of the host in turn; the last one stays. All other hosts are looked up as ever. What was answered
 * is told on stderr: `looked up HOST: ADDRESS`.
 */
import dns, { type LookupAddress, type LookupOptions } from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';

const lies = JSON.parse(process.env.LYING_DNS ?? '{}') as Record<string, string[][]>;
const { lookup } = dns;
type Callback = (error: Error | null, found: LookupAddress[] | string, family?: number) => void;

dns.lookup = ((host: string, options: LookupOptions, callback: Callback) => {
  const answers = lies[host];
  if (answers === undefined) return lookup(host, options as never, callback as never);
  const addresses = answers.length > 1 ? answers.shift()! : answers[0]!;
  process.stderr.write(`looked up ${host}: ${addresses}\n`);
  const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  setImmediate(() => {
    if (options.all) callback(null, found);
    else callback(null, found[0]!.address, found[0]!.family);
  });
}) as never;
syncBuiltinESMExports();
