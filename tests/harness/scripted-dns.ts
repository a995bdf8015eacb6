/**
 * For `NODE_OPTIONS=--import`: name look-ups return what SCRIPTED_DNS lists, `{"HOST": [["ADDRESS", …], …]}`: one list
 * of addresses for each look-up of the host, in order; the last one stays. Other hosts are looked up as usual. Each
 * scripted look-up writes `looked up HOST: ADDRESS` to stderr.
 */
import dns, { type LookupAddress, type LookupOptions } from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';

const script = JSON.parse(process.env.SCRIPTED_DNS ?? '{}') as Record<string, string[][]>;
const { lookup } = dns;
type Callback = (error: Error | null, found: LookupAddress[] | string, family?: number) => void;

dns.lookup = ((host: string, options: LookupOptions, callback: Callback) => {
  const lists = script[host];
  if (lists === undefined) return lookup(host, options as never, callback as never);
  const addresses = lists.length > 1 ? lists.shift()! : lists[0]!;
  process.stderr.write(`looked up ${host}: ${addresses}\n`);
  const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  setImmediate(() => {
    if (options.all) callback(null, found);
    else callback(null, found[0]!.address, found[0]!.family);
  });
}) as never;
syncBuiltinESMExports();
