import { Child } from '../../src/sandbox/child.ts';

/** Stands for the platform that is killed: it runs a hostile job, or lets the process wait, and prints its process id. */
const [folder, program, job] = process.argv.slice(2) as [string, string, string];
const child = await Child.start('sqlite', folder, program);
if (job !== 'none') child.run(job as 'sqliteProbe', null, 600_000).catch(() => {});
process.stdout.write(`${child.pid}\n`);
