/** The benchmarks by name. Each file exports `run`, which prints one table, peers in the same run. */
const benchmarks: Record<string, () => Promise<{ run(): Promise<void> }>> = {
  cron: () => import('./cron.ts'),
  firings: () => import('./firings.ts'),
  telemetry: () => import('./telemetry.ts'),
  delivery: () => import('./delivery.ts'),
  herd: () => import('./herd.ts'),
  idle: () => import('./idle.ts'),
  api: () => import('./api.ts'),
  'role-mappings': () => import('./role-mappings.ts'),
  runtime: () => import('./runtime.ts'),
  console: () => import('./console.ts'),
  data: () => import('./data.ts'),
  versions: () => import('./versions.ts'),
  evaluation: () => import('./evaluation.ts'),
  money: () => import('./money.ts'),
  traces: () => import('./traces.ts'),
  triggers: () => import('./triggers.ts'),
  alerts: () => import('./alerts.ts'),
  scaling: () => import('./scaling.ts'),
  history: () => import('./history.ts'),
  quick: () => import('./quick.ts'),
};

const names = process.argv.slice(2);
const unknown = names.filter((name) => !Object.hasOwn(benchmarks, name));
if (unknown.length > 0) {
  console.error(
    `No benchmark is called ${unknown.join(' or ')}. There are: ${Object.keys(benchmarks).join(', ')}.`,
  );
  process.exit(2);
}
// The quick one repeats parts of the others.
const all = Object.keys(benchmarks).filter((name) => name !== 'quick');
for (const name of names.length > 0 ? names : all) {
  console.log(`\n== ${name}\n`);
  const { run } = await benchmarks[name]!();
  await run();
}
// A peer may leave a timer or a connection behind after it was stopped.
process.exit();
