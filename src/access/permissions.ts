import type { Role } from '../lib/principal.ts';

/**
 * Which operation needs which role at least: the one table. The server refuses by it, the OpenAPI documents
 * show it (`x-required-role`), and a test tries every operation with every role. Each operation stands here
 * exactly once; the platform does not start otherwise.
 */
export const requiredRoles: Record<string, Role> = {
  listAgents: 'member',
  getAgent: 'member',
  createAgent: 'builder',
  updateAgent: 'builder',
  deleteAgent: 'builder',

  listSchedules: 'member',
  getSchedule: 'member',
  createSchedule: 'builder',
  replaceSchedule: 'builder',
  deleteSchedule: 'builder',
  pauseSchedule: 'builder',
  resumeSchedule: 'builder',
  runSchedule: 'builder',
  listOccurrences: 'member',
  auditSchedule: 'member',
  previewSchedule: 'member',

  listWorkItems: 'member',
  getWorkItem: 'member',
  createWorkItem: 'member',
  submitWorkItem: 'member',
  continueWorkItem: 'member',
  restartWorkItem: 'member',
  cancelWorkItem: 'member',
  completeWorkItem: 'member',
  listWorkItemEvents: 'member',
  listWorkItemMessages: 'member',
  getWorkItemTrace: 'member',

  listObservabilityIntegrations: 'admin',
  createObservabilityIntegration: 'admin',
  getObservabilityIntegration: 'admin',
  replaceObservabilityIntegration: 'admin',
  updateObservabilityIntegration: 'admin',
  deleteObservabilityIntegration: 'admin',
  listObservabilityScopes: 'admin',
  createObservabilityScope: 'admin',
  deleteObservabilityScope: 'admin',
  testObservabilityIntegration: 'admin',
  testObservabilitySettings: 'admin',
  getObservabilityHealth: 'admin',
  listDeadLetters: 'admin',
  retryDeadLetters: 'admin',
  purgeDeadLetters: 'admin',

  sendTraces: 'member',

  listLlmConfigurations: 'builder',
  getLlmConfiguration: 'builder',
  createLlmConfiguration: 'admin',
  updateLlmConfiguration: 'admin',
  deleteLlmConfiguration: 'admin',
  testLlmConfiguration: 'admin',
  getLlmDefaults: 'admin',
  setLlmDefaults: 'admin',

  // Everyone makes keys for themselves; the rules say which ones they see.
  listApiKeys: 'member',
  getApiKey: 'member',
  createApiKey: 'member',
  deleteApiKey: 'member',

  getAdvancedSettings: 'admin',
  updateAdvancedSettings: 'admin',
  getAdvancedSettingsSchema: 'admin',

  listAudits: 'admin',
  verifyAudits: 'admin',
};

/** The role that `operationId` needs. Throws for an operation that is not in the table. */
export const roleOf = (operationId: string): Role => {
  const role = requiredRoles[operationId];
  if (!role)
    throw new Error(`the operation ${operationId} is not in the permission table (access/permissions.ts)`);
  return role;
};
