/**
 * Keys of Microsoft's clouds. Since 2021 its keys carry a mark of their service at a fixed place ("identifiable keys",
 * https://github.com/microsoft/security-utilities).
 */
import { hasDigit, issuer, mixed, type Row } from './row.js'

/** 64 bytes with the mark after 76 digits. */
const long = (mark: string) => `<76 base64>${mark}<6 base64>==`
/** 32 bytes with the mark after 33 digits. */
const short = (mark: string) => `<33 base64>${mark}<6 base64>=`
const docs = 'https://learn.microsoft.com/purview/sit-defn-all-creds'

export const azure: readonly Row[] = [
  ...issuer(
    'Microsoft Azure',
    docs,
    ['azure_storage_key', 'AccountKey=<86 base64>=='],
    ['azure_storage_key', long('+ASt')],
    ['azure_batch_key', long('+ABa')],
    ['azure_machine_learning_key', long('+AMC')],
    ['azure_cosmos_db_key', long('ACDb')],
    ['azure_api_management_key', long('APIM')],
    ['azure_service_bus_key', short('+ASb')],
    ['azure_event_hub_key', short('+AEh')],
    ['azure_relay_key', short('+ARm')],
    ['azure_iot_key', short('AIoT')],
    ['azure_redis_key', short('AzCa')],
    ['azure_event_grid_key', short('AzEG')],
    ['azure_container_registry_key', '<42 base64>+ACR<6 base64>'],
    ['azure_search_key', '<42 base62>AzSe<6 base62>'],
    ['azure_function_key', '<44 word>AzFu<6 word>=='],
    ['azure_common_key', '<52 base62>JQQJ99<26 base62>'],
    ['azure_common_key', '<52 base62>JQQJ99<28 base62>=='],
    ['azure_shared_access_signature', 'sig=<43 base64>='],
    ['azure_shared_access_signature', 'sig=<40-64 base62>%3D', { only: mixed, confidence: 0.8 }]
  ),
  ...issuer(
    'Microsoft Entra ID',
    docs,
    ['azure_client_secret', '<3 tilde>7Q~<31-34 tilde>', { only: mixed }],
    ['azure_client_secret', '<3 tilde>8Q~<31-34 tilde>', { only: mixed }]
  ),
  ...issuer(
    'Microsoft Teams',
    'https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors',
    [
      'teams_webhook',
      '.webhook.office.com/webhookb2/<36 word>@<36 word>/IncomingWebhook/<32 hex>/<36 word>',
      { only: hasDigit }
    ],
    [
      'teams_webhook',
      'outlook.office.com/webhook/<36 word>@<36 word>/IncomingWebhook/<32 hex>/<36 word>',
      { only: hasDigit }
    ]
  )
]
