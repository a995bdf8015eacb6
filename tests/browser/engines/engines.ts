import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram } from '../../harness/programs.ts';
import { newServer, onFreePort, type Server } from '../../harness/server.ts';
import { WebDriver } from './webdriver.ts';

/** A browser engine other than Chromium's. */
export interface Engine {
  name: 'Firefox' | 'WebKit';
  /** What is missing here; null: nothing. */
  absent: string | null;
  /** Starts it; `stop` ends all its processes. */
  start(): Promise<{ driver: WebDriver; stop(): Promise<void> }>;
}

/** A program that speaks WebDriver on a port. */
const startDriver = async (command: string, env: NodeJS.ProcessEnv, options: (port: number) => string[]) => {
  const server = await newServer('webdriver');
  let address = '';
  await onFreePort((port) => {
    address = `http://127.0.0.1:${port}`;
    const isReady = async () => (await fetch(`${address}/status`)).ok;
    const env_ = { ...process.env, ...env, HOME: server.base };
    return server.start({ command, args: options(port), options: { env: env_ }, isReady, withinMs: 30_000 });
  });
  return { server, address };
};

/** Ends what was started, the last one first. */
const stopAll = async (driver: WebDriver | null, servers: Server[]): Promise<void> => {
  await driver?.close().catch(() => {});
  for (const server of servers.reverse()) await server.stop('SIGTERM');
};

const startWith = async (servers: Server[], address: string, capabilities: object) => {
  try {
    const driver = await WebDriver.start(address, capabilities);
    await driver.resize(1280, 800);
    return { driver, stop: () => stopAll(driver, servers) };
  } catch (error) {
    await stopAll(null, servers);
    throw error;
  }
};

const firefox = findProgram('firefox', 'firefox-esr');
const geckodriver = findProgram('geckodriver');

const startFirefox = async () => {
  const { server, address } = await startDriver(geckodriver!, {}, (port) => ['--port', String(port)]);
  const options = { binary: firefox, args: ['-headless'] };
  return startWith([server], address, { browserName: 'firefox', 'moz:firefoxOptions': options });
};

const webKitDriver = findProgram('WebKitWebDriver');
const xvfb = findProgram('Xvfb');
/** The system's: another Python does not have the bindings of GTK. */
const systemPython = '/usr/bin/python3';
const hasWindow = (): boolean => {
  const load = "import gi; gi.require_version('Gtk', '3.0'); gi.require_version('WebKit2', '4.1')";
  return existsSync(systemPython) && spawnSync(systemPython, ['-c', load]).status === 0;
};

/** A screen in memory, for a window that has no mode without one. */
const startScreen = async (): Promise<{ screen: Server; display: string }> => {
  const screen = await newServer('Xvfb');
  const numbers = Array.from({ length: 20 }, () => 100 + Math.floor(Math.random() * 9_000));
  const number = numbers.find((each) => !existsSync(`/tmp/.X11-unix/X${each}`))!;
  await screen.start({
    command: xvfb!,
    args: [`:${number}`, '-screen', '0', '1600x1200x24', '-nolisten', 'tcp'],
    isReady: async () => existsSync(`/tmp/.X11-unix/X${number}`),
    withinMs: 20_000,
  });
  return { screen, display: `:${number}` };
};

const startWebKit = async () => {
  const { screen, display } = await startScreen();
  // Without a session bus and a graphics card.
  const env = { DISPLAY: display, NO_AT_BRIDGE: '1', LIBGL_ALWAYS_SOFTWARE: '1', GDK_BACKEND: 'x11' };
  const { server, address } = await startDriver(webKitDriver!, env, (port) => [`--port=${port}`]);
  const window = join(import.meta.dirname, 'webkit-window.py');
  return startWith([screen, server], address, {
    'webkitgtk:browserOptions': { binary: systemPython, args: [window] },
  });
};

export const engines: readonly Engine[] = [
  { name: 'Firefox', absent: firefox && geckodriver ? null : 'no Firefox', start: startFirefox },
  {
    name: 'WebKit',
    absent: webKitDriver && xvfb && hasWindow() ? null : 'no WebKit',
    start: startWebKit,
  },
];
