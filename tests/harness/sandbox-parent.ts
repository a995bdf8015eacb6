import { Child } from '../../src/sandbox/child.ts';

/** Stands for the platform that is killed: it runs a hostile job and prints the job's process id. */
const [folder, program, job] = process.argv.slice(2) as [string, string, string];
const child = await Child.start('sqlite', folder, program);
child.run(job as 'sqliteProbe', null, 600_000).catch(() => {});
process.stdout.write(`${child.pid}\n`);
