import { parentPort, workerData } from 'node:worker_threads';
import { parseYaml } from './yaml.ts';

/** The thread that reads one long text. */
parentPort!.postMessage(parseYaml(workerData as string));
