/** Tokens of messaging services: chat, mail, telephony, social networks and their webhooks. */
import { discordAccount } from '../checks.js'
import { hasDigit, issuer, mixed, type Row, uuid } from './row.js'

const digits = { only: hasDigit }
const inDiscord = { check: discordAccount, only: mixed, confidence: 0.95 }

export const chat: readonly Row[] = [
  ...issuer(
    'Slack',
    'https://api.slack.com/concepts/token-types',
    ['slack_token', 'xoxb-<10-250 word>', digits],
    ['slack_token', 'xoxp-<10-250 word>', digits],
    ['slack_token', 'xoxa-<10-250 word>', digits],
    ['slack_token', 'xoxr-<10-250 word>', digits],
    ['slack_token', 'xoxs-<10-250 word>', digits],
    ['slack_token', 'xoxo-<10-250 word>', digits],
    ['slack_client_token', 'xoxc-<10-250 word>', digits],
    ['slack_client_token', 'xoxd-<20-400 any64>', digits],
    ['slack_refresh_token', 'xoxe-<1 digit>-<100-200 word>'],
    ['slack_configuration_token', 'xoxe.xoxp-<1 digit>-<100-250 word>'],
    ['slack_configuration_token', 'xoxe.xoxb-<1 digit>-<100-250 word>'],
    ['slack_app_token', 'xapp-<1 digit>-<6-20 upper36>-<6-20 digit>-<32-80 hex>'],
    ['slack_webhook', 'hooks.slack.com/services/T<6-14 base62>/<6-40 base62>/<8-60 base62>'],
    ['slack_webhook', 'hooks.slack.com/workflows/T<6-14 base62>/<6-40 base62>/<8-60 base62>/<8-60 base62>'],
    ['slack_webhook', 'hooks.slack.com/workflows/T<6-14 base62>/<6-40 base62>/<8-60 base62>'],
    ['slack_webhook', 'hooks.slack.com/triggers/T<6-14 base62>/<6-40 base62>/<8-60 base62>']
  ),
  ...issuer(
    'Discord',
    'https://discord.com/developers/docs/reference',
    ['discord_webhook', 'discord.com/api/webhooks/<17-20 digit>/<40-100 word>'],
    ['discord_webhook', 'discordapp.com/api/webhooks/<17-20 digit>/<40-100 word>'],
    // The anchor of these is the dot: an account's number in base64 begins with one of three letters.
    [
      'discord_token',
      '<24-28 word>.<6 word>.<27-40 word>',
      { ...inDiscord, only: (token) => /^[MNO]/.test(token) && mixed(token) }
    ]
  ),
  ...issuer('Telegram', 'https://core.telegram.org/bots/features#botfather', [
    'telegram_bot_token',
    '<8-10 digit>:<33-36 word>',
    { only: (token) => mixed(token.slice(11)), confidence: 0.9 }
  ]),
  ...issuer('Google Chat', 'https://developers.google.com/workspace/chat/quickstart/webhooks', [
    'google_chat_webhook',
    'chat.googleapis.com/v1/spaces/<8-16 word>/messages?key=<39 word>&token=<30-60 word>'
  ]),
  ...issuer('Zapier', 'https://help.zapier.com', [
    'zapier_webhook',
    'hooks.zapier.com/hooks/catch/<5-10 digit>/<5-10 lower36>'
  ]),
  ...issuer('IFTTT', 'https://ifttt.com/maker_webhooks', [
    'ifttt_webhook',
    'maker.ifttt.com/trigger/<1-60 word>/with/key/<20-60 word>'
  ]),
  ...issuer('Tines', 'https://www.tines.com/docs', ['tines_webhook', '.tines.com/webhook/<32 hex>/<32 hex>']),
  ...issuer('Twilio', 'https://www.twilio.com/docs/iam/api-keys', ['twilio_key', 'SK<32 hex>']),
  ...issuer('SendGrid', 'https://www.twilio.com/docs/sendgrid/ui/account-and-settings/api-keys', [
    'sendgrid_key',
    'SG.<16-32 word>.<16-64 word>',
    { only: mixed }
  ]),
  ...issuer(
    'Mailgun',
    'https://documentation.mailgun.com',
    ['mailgun_key', 'key-<32 hex>', { confidence: 0.85 }],
    ['mailgun_key', '<32 hex>-<8 hex>-<8 hex>', { confidence: 0.85 }]
  ),
  ...issuer(
    'Mailchimp',
    'https://mailchimp.com/developer/marketing/guides/quick-start',
    ['mailchimp_key', '<32 hex>-us<1-2 digit>'],
    ['mandrill_key', 'md-<22 word>', { only: mixed, confidence: 0.85 }]
  ),
  ...issuer(
    'Brevo',
    'https://developers.brevo.com',
    ['brevo_key', 'xkeysib-<64 hex>-<16 base62>'],
    ['brevo_smtp_key', 'xsmtpsib-<64 hex>-<16 base62>']
  ),
  ...issuer('Resend', 'https://resend.com/docs', ['resend_key', 're_<8 base62>_<24 base62>', digits]),
  ...issuer('MailerSend', 'https://developers.mailersend.com', ['mailersend_key', 'mlsn.<64 hex>']),
  ...issuer(
    'Klaviyo',
    'https://developers.klaviyo.com',
    ['klaviyo_key', 'pk_<34 hex>'],
    ['klaviyo_key', 'pk_<6 base62>_<34 hex>']
  ),
  ...issuer(
    'HubSpot',
    'https://developers.hubspot.com/docs/apps',
    ['hubspot_token', `pat-na1-${uuid}`],
    ['hubspot_token', `pat-eu1-${uuid}`]
  ),
  ...issuer('Intercom', 'https://developers.intercom.com', ['intercom_token', 'dG9rO<55 any64>']),
  ...issuer(
    'OneSignal',
    'https://documentation.onesignal.com',
    ['onesignal_key', 'os_v2_app_<80-120 lower36>'],
    ['onesignal_key', 'os_v2_org_<80-120 lower36>']
  ),
  ...issuer('Telnyx', 'https://developers.telnyx.com', ['telnyx_key', 'KEY<32 upper36>_<22 base62>', digits]),
  ...issuer('SignalWire', 'https://developer.signalwire.com', ['signalwire_token', 'PT<48 hex>']),
  ...issuer(
    'Meta',
    'https://developers.facebook.com/docs/facebook-login/guides/access-tokens',
    ['facebook_token', 'EAAM<100-400 base62>', digits],
    ['facebook_token', 'EAAC<60-400 base62>', digits],
    ['facebook_token', 'EAAB<60-400 base62>', digits],
    ['facebook_token', 'EAAG<60-400 base62>', digits],
    ['instagram_token', 'IGQ<100-400 word>', digits]
  ),
  ...issuer(
    'X',
    'https://docs.x.com/fundamentals/authentication',
    ['twitter_bearer_token', 'AAAAAAAAAAAAAAAAAAAAA<60-120 base62>', { only: mixed }],
    ['twitter_bearer_token', 'AAAAAAAAAAAAAAAAAAAAA<8-40 base62>%<20-120 base62>', { only: mixed }]
  ),
  ...issuer('Zoho', 'https://www.zoho.com/accounts/protocol/oauth.html', ['zoho_token', '1000.<32 hex>.<32 hex>']),
  ...issuer('PubNub', 'https://www.pubnub.com/docs', ['pubnub_secret_key', 'sec-c-<40-64 base64>', { only: mixed }]),
  ...issuer('Courier', 'https://www.courier.com/docs', ['courier_key', 'pk_prod_<28 upper36>', digits])
]
