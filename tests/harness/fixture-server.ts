import { createServer } from 'node:http';

/**
 * Behaves like a platform from the outside, for the harness's own tests: not ready at first, exits with 0 on SIGTERM.
 */
let checks = 0;
const server = createServer((request, response) => {
  const ready = request.url === '/readyz' && checks++ > 2;
  response.writeHead(ready ? 200 : 503).end();
});
server.listen(Number(process.env.PORT), process.env.HOST, () => console.log('listening'));
process.on('SIGTERM', () => process.exit(0));
if (process.env.FAIL) {
  console.error(process.env.FAIL);
  process.exit(2);
}
