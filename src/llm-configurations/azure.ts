import { z } from 'zod';
import { text } from '../http/index.ts';
import { api } from './fields.ts';
import type { KindFault } from './kind.ts';

/** The addresses of Azure: by deployment, or by `/v1`. */

/** The version that addresses by deployment have if the configuration names none. */
const deploymentVersion = '2024-10-21';

export const azureFields = {
  api_version: text(50, 1)
    .regex(/^[\w.-]+$/, 'must consist of letters, digits, dots and hyphens')
    .describe(
      'The `api-version` of the requests. Default: `v1`; with `deployment_urls`, which need a date, `2024-10-21`.',
    ),
  deployment_urls: z
    .boolean()
    .describe(
      'Whether addresses name the deployment (`/deployments/MODEL`) instead of `/v1`. They have chat completions only.',
    ),
  api,
};

/** The settings that decide the addresses. */
interface AzureAddress {
  api?: 'responses' | 'chat_completions';
  api_version?: string;
  deployment_urls?: boolean;
}

/** The protocol and the version of Azure's addresses. Those by deployment have chat completions and dated versions only. */
export const azureAddress = ({
  deployment_urls = false,
  api = deployment_urls ? 'chat_completions' : 'responses',
  api_version = deployment_urls ? deploymentVersion : 'v1',
}: AzureAddress): Required<AzureAddress> => ({
  api,
  api_version,
  deployment_urls,
});

/** `settings` without what was stored before `azureFault` was checked: the defaults of the other addresses. */
export const repairedAzure = <S extends AzureAddress>(settings: S): S => {
  if (!azureFault(settings)) return settings;
  const { api, api_version, ...others } = settings;
  return { ...others, ...(datedVersion.test(api_version ?? '') ? { api_version } : {}) } as S;
};

const datedVersion = /^\d{4}-\d{2}-\d{2}/;

export const azureFault = (settings: object): KindFault | null => {
  const { api, api_version, deployment_urls } = settings as Record<string, unknown>;
  if (deployment_urls !== true) return null;
  if (api != null && api !== 'chat_completions') {
    return {
      path: 'api',
      message: 'must be chat_completions with deployment_urls: addresses by deployment have no responses',
    };
  }
  if (api_version == null || datedVersion.test(String(api_version))) return null;
  return {
    path: 'api_version',
    message: `must be a date with deployment_urls, such as ${deploymentVersion}`,
  };
};
