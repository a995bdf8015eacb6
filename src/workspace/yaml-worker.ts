import { parentPort, workerData } from 'node:worker_threads';
import { parseYaml } from './yaml.ts';

parentPort!.postMessage(parseYaml(workerData as string));
