import { Readable } from 'node:stream';
import { audit } from '../../audit/index.ts';
import { advisoryLock, type Database, type Executor, type Tx } from '../../database/index.ts';
import type { Vault } from '../../lib/crypto.ts';
import { type Egress, EgressError } from '../../lib/egress.ts';
import { notFound, unprocessable } from '../../lib/errors.ts';
import { isId } from '../../lib/ids.ts';
import type { Actor } from '../../lib/principal.ts';
import { SealedSettings } from '../../lib/sealed-settings.ts';
import { type AskModel, lockLlmForShare } from '../../llm-configurations/index.ts';
import { isOcrLanguageInstalled, type Sandbox } from '../../sandbox/index.ts';
import { readerOf } from '../readers/index.ts';
import { ReaderFailure } from '../readers/reader.ts';
import { sampleDocument } from '../readers/sample.ts';
import {
  addressOf,
  type ConfigurationBody,
  plainFields,
  type ReaderSettings,
  shownSettings,
  withStoredSecrets,
} from './settings.ts';
import {
  type ConfigurationRow,
  configurationId,
  deleteConfiguration,
  findConfiguration,
  putConfiguration,
} from './store.ts';

/** The reader and the model of extractions, with all secrets. */
export interface Configuration extends Pick<ConfigurationRow, 'llm_id' | 'ocr' | 'ocr_languages'> {
  settings: ReaderSettings;
  /** 0 if nothing is configured. */
  revision: number;
  /** Null if nothing is configured. */
  updated_at: Date | null;
}

const defaults: Configuration = {
  settings: { provider: 'embedded' },
  llm_id: null,
  ocr: 'auto',
  ocr_languages: ['eng'],
  revision: 0,
  updated_at: null,
};

/** The LLM that is configured to extract; without one, that of the agent, else the default one. */
export const llmOf = ({ llm_id: llmId }: Configuration, agentId?: string): Parameters<AskModel>[0] => {
  if (llmId !== null) return { llmId };
  return agentId === undefined ? {} : { agentId };
};

export const readingOf = ({ ocr, ocr_languages: languages, settings }: Configuration) => ({
  ocr,
  languages,
  settings,
});

/** The settings that a body asks for. Throws 422 for a missing secret. */
const settingsOf = (body: ConfigurationBody, stored: ReaderSettings | null): ReaderSettings => {
  const settings = withStoredSecrets(body, stored);
  if (settings) return settings;
  throw unprocessable([{ path: 'settings.api_key', message: 'is required for this endpoint' }]);
};

const testTimeoutMs = 60_000;

export interface TestStep {
  step: 'address' | 'proxy' | 'read';
  ok: boolean;
  detail: string;
}

/** The configuration of document intelligence: one for the platform. */
export class Configurations {
  readonly sealed: SealedSettings<ReaderSettings>;
  readonly #db: Database;
  readonly #egress: Egress;
  readonly #sandbox: Sandbox;

  constructor(parts: { db: Database; vault: Vault; egress: Egress; sandbox: Sandbox }) {
    this.#db = parts.db;
    this.#egress = parts.egress;
    this.#sandbox = parts.sandbox;
    this.sealed = new SealedSettings(parts.vault, 'document_intelligence', plainFields);
  }

  read(): Promise<Configuration> {
    return this.#db.run((executor) => this.readBy(executor));
  }

  /** The configuration as it stays until the transaction ends, also if there is none. */
  async lock(tx: Tx): Promise<Configuration> {
    await advisoryLock(tx, 'document intelligence');
    return this.readBy(tx);
  }

  /** Locks the configuration. Without one this throws 404, whatever ETag a request names. */
  async lockToRemove(tx: Tx): Promise<Configuration> {
    const locked = await this.lock(tx);
    if (locked.updated_at === null) throw notFound('document-intelligence configuration');
    return locked;
  }

  async readBy(executor: Executor): Promise<Configuration> {
    const row = await findConfiguration(executor);
    return row ? { ...row, settings: this.sealed.open(row) } : defaults;
  }

  /**
   * The settings that a body asks for. Throws 422 for a missing secret, an address that may not be reached, and an OCR
   * language that is not installed. It looks up the address, so it is not called in a transaction.
   */
  async check(body: ConfigurationBody, stored: ReaderSettings | null): Promise<ReaderSettings> {
    const settings = settingsOf(body, stored);
    const missing = (body.ocr_languages ?? []).findIndex((code) => !isOcrLanguageInstalled(code));
    if (missing !== -1) {
      const code = body.ocr_languages![missing]!;
      const message = `is not installed: add the package @tesseract.js-data/${code} to the installation (docs/documents.md#more-languages)`;
      throw unprocessable([{ path: `ocr_languages[${missing}]`, message }]);
    }
    const address = addressOf(settings);
    if (!address) return settings;
    await this.#egress.resolve(new URL(address.url).hostname).catch((error: unknown) => {
      // A name that is not found now may be found later.
      if (!(error instanceof EgressError) || error.kind !== 'denied') return;
      throw unprocessable([{ path: `settings.${address.field}`, message: error.message }]);
    });
    return settings;
  }

  /** Replaces the locked configuration by `body`. `given`: its settings, which were checked, with stored secrets. */
  async put(tx: Tx, actor: Actor, body: ConfigurationBody, given?: ReaderSettings): Promise<Configuration> {
    const settings = given ?? settingsOf(body, null);
    const {
      llm_id: llmId = null,
      ocr = defaults.ocr,
      ocr_languages: languages = defaults.ocr_languages,
    } = body;
    if (llmId !== null && (!isId(llmId) || !(await lockLlmForShare(tx, llmId)))) {
      throw unprocessable([{ path: 'llm_id', message: 'is not an LLM configuration' }], { llm_id: llmId });
    }
    const fields = { llm_id: llmId, ocr, ocr_languages: languages };
    const row = await putConfiguration(tx, {
      ...fields,
      provider: settings.provider,
      settings: this.sealed.seal(configurationId, settings),
    });
    await audit(tx, actor, 'document_intelligence.update', null, {
      ...this.sealed.masked(settings),
      ...fields,
    });
    return { ...row, settings };
  }

  /** Removes the locked configuration. Throws 404 if there is none. */
  async remove(tx: Tx, actor: Actor): Promise<void> {
    if (!(await deleteConfiguration(tx))) throw notFound('document-intelligence configuration');
    await audit(tx, actor, 'document_intelligence.delete', null, {});
  }

  /** Reads a sample document by these settings. Never rejects because of what the provider does. */
  async test(settings: ReaderSettings, signal: AbortSignal): Promise<{ ok: boolean; steps: TestStep[] }> {
    const steps: TestStep[] = [];
    const ended = (step: TestStep) => ({ ok: step.ok, steps: [...steps, step] });
    const address = addressOf(settings);
    const within = AbortSignal.any([signal, AbortSignal.timeout(testTimeoutMs)]);
    const reader = readerOf(this.#egress, settings);
    try {
      if (address) {
        const url = new URL(address.url);
        const { proxy } = await this.#egress.route(url);
        steps.push({ step: 'address', ok: true, detail: `Documents go to ${url.origin}.` });
        if (proxy) {
          const detail = `Requests go through the proxy ${proxy.shown}.`;
          steps.push({ step: 'proxy', ok: true, detail });
        }
      }
      const sample = sampleDocument();
      const pages = reader
        ? await reader(sample, within)
        : (
            await this.#sandbox.run(
              'documentRead',
              { type: 'pdf', ranges: null, maxPages: 1, maxCharacters: 1_000 },
              { files: { source: Readable.from([sample.bytes]) }, limits: { seconds: 30 }, signal: within },
            )
          ).pages;
      const lines = pages.reduce((count, page) => count + page.lines.length, 0);
      return ended({ step: 'read', ok: true, detail: `The sample was read: ${lines} lines.` });
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof EgressError) {
        const step = error.kind === 'proxy' ? 'proxy' : 'address';
        const passed = steps.findIndex((one) => one.step === step);
        // A step that had passed has failed after all.
        if (passed !== -1) steps.length = passed;
        return ended({ step, ok: false, detail: `No connection: ${error.message}.` });
      }
      const detail =
        error instanceof ReaderFailure ? `${error.message}.` : 'The sample could not be read in time.';
      return ended({ step: 'read', ok: false, detail: detail[0]!.toUpperCase() + detail.slice(1) });
    }
  }
}

export const toResponse = ({ settings, llm_id, ocr, ocr_languages, updated_at }: Configuration) => ({
  configured: updated_at !== null,
  provider: settings.provider,
  settings: shownSettings(settings),
  llm_id,
  ocr,
  ocr_languages,
  updated_at,
});
