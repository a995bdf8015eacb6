import { parentPort } from 'node:worker_threads';
import { compilePattern } from '../../lib/pattern.ts';

parentPort!.on('message', ({ pattern, flags, text }: { pattern: string; flags: string; text: string }) => {
  parentPort!.postMessage('begun');
  parentPort!.postMessage(compilePattern(pattern, flags).test(text));
});
