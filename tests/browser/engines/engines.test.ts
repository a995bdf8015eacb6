import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Fixture, ok, startFixture } from '../../contract/fixture.ts';
import { adminKey } from '../../harness/process.ts';
import { skipNote } from '../../harness/programs.ts';
import { until } from '../../harness/wait.ts';
import { detail } from '../fixture.ts';
import { makePages } from '../pages.ts';
import { type Engine, engines } from './engines.ts';
import { collectScriptFaults, control, covered, type Kind, sideways, state } from './page-checks.ts';
import type { Element, WebDriver } from './webdriver.ts';

describe.each(engines)('$name', (engine) => {
  describe.skipIf(engine.absent !== null)(`is supported${skipNote(engine.absent)}`, () => {
    let fixture: Fixture;
    let browser: Awaited<ReturnType<Engine['start']>>;
    let driver: WebDriver;
    beforeAll(async () => {
      [fixture, browser] = await Promise.all([startFixture('embedded'), engine.start()]);
      driver = browser.driver;
    });
    afterAll(async () => {
      await browser?.stop();
      await fixture?.test.stop();
    });

    const find = (kind: Kind, name: string): Promise<Element> =>
      until(() => driver.run<Element | null>(control, kind, name)).catch(async (cause) => {
        const page = await driver.run<string>('return location.pathname + " " + document.body.innerText');
        throw new Error(`no ${kind} is called ${name}: ${page.slice(0, 1_000)}`, { cause });
      });
    /** Again while the page is still being drawn, or something lies over it for a moment. */
    const act = (kind: Kind, name: string, what: (element: Element) => Promise<void>) =>
      until(() =>
        find(kind, name)
          .then(what)
          .then(() => true),
      );
    const press = (kind: Kind, name: string) => act(kind, name, (element) => driver.click(element));
    const fill = (name: string, text: string) => act('field', name, (element) => driver.fill(element, text));
    const open = async (path: string): Promise<void> => {
      await driver.open(fixture.test.origin + path);
      await driver.run(collectScriptFaults);
    };
    /** Resolves when the page does not change any more. */
    const settle = async (): Promise<void> => {
      let before: string | null = null;
      await until(async () => {
        const now = await driver.run<string | null>(state);
        const same = now !== null && now === before;
        before = now;
        return same;
      });
    };
    const signIn = async (): Promise<void> => {
      await open('/sign-in');
      await fill('API key', adminKey);
      await press('button', 'Sign in');
      await find('heading', 'Overview');
    };
    const faultsHere = async (path: string): Promise<string[]> => {
      await settle();
      const pixels = await driver.run<number>(sideways);
      return [
        ...(await driver.run<string[]>(covered)),
        ...(await driver.run<string[]>('return window.scriptFaults.splice(0)')),
        ...(pixels > 0 ? [`scrolls ${pixels} px sideways`] : []),
      ].map((fault) => `${path}: ${fault}`);
    };

    test('on every page no control is covered, no script fails, and nothing scrolls sideways', async () => {
      const paths = await makePages(fixture);
      await signIn();
      const faults: string[] = [];
      for (const path of paths) {
        // As a link does: loading the application again takes ten times as long.
        await driver.run('history.pushState(null, "", arguments[0])', path);
        faults.push(...(await faultsHere(path)));
      }
      expect(faults).toEqual([]);
    });

    detail('the main tasks can be done: an agent, a schedule, a run, a filter, a setting', async () => {
      await signIn();
      await press('link', 'Agents');
      await press('link', 'New agent');
      await fill('Name', 'Day clerk');
      await fill('Instructions', 'Check the invoices.');
      await press('button', 'Create agent');
      await find('heading', 'Day clerk');

      await press('link', 'Schedules');
      await press('link', 'New schedule');
      await press('field', 'Agent');
      await press('option', 'Day clerk');
      await fill('Name', 'Close the day');
      await fill('Message', 'Close it.');
      await press('button', 'Create schedule');
      await find('heading', 'Close the day');
      await press('button', 'Run now');
      await find('text', 'Run by hand');

      await press('link', 'Work Items');
      await find('cell', 'Close the day');
      await fill('Filter', 'nothing is called this');
      await find('text', 'No Work Items match 1 filter.');
      await press('button', 'Clear filters');
      await press('cell', 'Close the day');
      await find('heading', 'Close the day');

      // A click beside a list goes where it says, and not into a row of the list.
      await press('link', 'Agents');
      await find('cell', 'Day clerk');
      await press('link', 'Settings');
      await fill('MAX_SCHEDULES_PER_AGENT', '7');
      await press('button', 'Save');
      const stored = async () => (await ok(fixture.api.get('/advanced-settings'))).MAX_SCHEDULES_PER_AGENT;
      await until(async () => (await stored()) === 7);
      expect(await driver.run('return window.scriptFaults')).toEqual([]);
    });
  });
});
