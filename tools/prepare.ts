/** Builds what is not current: the application, and the platform. npm runs it after an install and before what needs both. */
await import('./console.ts');
await import('./program.ts');
