import dgram from 'node:dgram';
import dns from 'node:dns';
import { syncBuiltinESMExports } from 'node:module';
import net from 'node:net';

/**
 * Closes the network to the JavaScript of this process, for good: Node 24's permission model does not cover it. Every
 * client and server of Node, `fetch` and the packages that bring their own, opens its sockets with these functions, and
 * internal bindings are out of reach under `--permission`. It is loaded before the job's program.
 */
// A function, not an arrow: some of what it takes the place of is called with `new`.
function refuse(): never {
  throw Object.assign(new Error('The network is closed to this process.'), { code: 'ERR_ACCESS_DENIED' });
}

const close = (owner: object, names: readonly string[]): void => {
  for (const name of names) Object.defineProperty(owner, name, { value: refuse });
};

const functionsOf = (owner: object): string[] =>
  Object.entries(owner).flatMap(([name, value]) => (typeof value === 'function' ? [name] : []));

close(net.Socket.prototype, ['connect']);
close(net.Server.prototype, ['listen', '_listen2']);
close(net, ['_createServerHandle']);
close(dgram, functionsOf(dgram));
close(dns.promises, functionsOf(dns.promises));
close(dns, functionsOf(dns));
// To change them loads Node's client of HTTP, 60 ms of processor time. To remove them does not.
const clients = ['fetch', 'WebSocket', 'EventSource'];
for (const name of clients) Reflect.deleteProperty(globalThis, name);
close(globalThis, clients);
syncBuiltinESMExports();
