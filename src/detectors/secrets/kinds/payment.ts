/** Tokens of payments, shops, banks and parcels. */
import { hasDigit, issuer, mixed, type Row, uuid } from './row.js'

const digits = { only: hasDigit }

export const payment: readonly Row[] = [
  ...issuer(
    'Stripe',
    'https://docs.stripe.com/keys',
    ['stripe_key', 'sk_live_<16-247 base62>', digits],
    ['stripe_key', 'sk_test_<16-247 base62>', digits],
    ['stripe_key', 'rk_live_<16-247 base62>', digits],
    ['stripe_key', 'rk_test_<16-247 base62>', digits],
    ['stripe_webhook_secret', 'whsec_<24-88 padded>', digits]
  ),
  ...issuer(
    'Square',
    'https://developer.squareup.com/docs/build-basics/access-tokens',
    ['square_token', 'EAAA<56-60 word>', { only: mixed }],
    ['square_token', 'sq0atp-<22-43 word>', digits],
    ['square_secret', 'sq0csp-<22-43 word>', digits]
  ),
  ...issuer('PayPal Braintree', 'https://developer.paypal.com/braintree/docs', [
    'braintree_token',
    'access_token$production$<16 lower36>$<32 hex>'
  ]),
  ...issuer(
    'Adyen',
    'https://docs.adyen.com/development-resources/api-credentials',
    ['adyen_key', 'AQE<40-400 padded>-<40-120 padded>-<8-40 base62>'],
    ['adyen_key', 'AQE<8 base62>hm<40-400 base64>-<40-120 padded>-<8-40 base62>']
  ),
  ...issuer(
    'Shopify',
    'https://shopify.dev/docs/apps/build/authentication-authorization',
    ['shopify_token', 'shpat_<32 anyhex>'],
    ['shopify_token', 'shpca_<32 anyhex>'],
    ['shopify_token', 'shppa_<32 anyhex>'],
    ['shopify_secret', 'shpss_<32 anyhex>']
  ),
  ...issuer(
    'Razorpay',
    'https://razorpay.com/docs/api/authentication',
    ['razorpay_key', 'rzp_live_<14 base62>', digits],
    ['razorpay_key', 'rzp_test_<14 base62>', digits]
  ),
  ...issuer(
    'Flutterwave',
    'https://developer.flutterwave.com/docs/authentication',
    ['flutterwave_key', 'FLWSECK-<32-40 lower36>-X'],
    ['flutterwave_key', 'FLWSECK_TEST-<32 lower36>-X'],
    ['flutterwave_key', 'FLWSECK_TEST<12 lower36>', digits]
  ),
  ...issuer(
    'Plaid',
    'https://plaid.com/docs/api',
    ['plaid_token', `access-production-${uuid}`],
    ['plaid_token', `access-sandbox-${uuid}`],
    ['plaid_token', `access-development-${uuid}`]
  ),
  ...issuer('Mercado Pago', 'https://www.mercadopago.com/developers', [
    'mercado_pago_token',
    'APP_USR-<12-20 digit>-<6 digit>-<32 hex>-<6-12 digit>'
  ]),
  ...issuer('Pagar.me', 'https://docs.pagar.me', ['pagarme_key', 'ak_live_<30 base62>', digits]),
  ...issuer('Ramp', 'https://docs.ramp.com', ['ramp_secret', 'ramp_sec_<48 base62>', digits]),
  ...issuer('Mercury', 'https://docs.mercury.com', ['mercury_token', 'mercury_production_<20-120 word>', digits]),
  ...issuer(
    'Xendit',
    'https://docs.xendit.co',
    ['xendit_key', 'xnd_production_<40-80 base62>', digits],
    ['xendit_key', 'xnd_development_<40-80 base62>', digits]
  ),
  ...issuer(
    'Midtrans',
    'https://docs.midtrans.com',
    ['midtrans_key', 'Mid-server-<20-40 word>', digits],
    ['midtrans_key', 'SB-Mid-server-<20-40 word>', digits]
  ),
  ...issuer(
    'Cashfree',
    'https://www.cashfree.com/docs',
    ['cashfree_secret', 'cfsk_ma_prod_<32 hex>_<8 hex>'],
    ['cashfree_secret', 'cfsk_ma_test_<32 hex>_<8 hex>']
  ),
  ...issuer(
    'Paddle',
    'https://developer.paddle.com',
    ['paddle_key', 'pdl_live_apikey_<26 base62>_<22 base62>_<3 base62>'],
    ['paddle_key', 'pdl_sdbx_apikey_<26 base62>_<22 base62>_<3 base62>'],
    ['paddle_secret', 'pdl_ntfset_<26 base62>_<32 any64>']
  ),
  ...issuer(
    'Polar',
    'https://docs.polar.sh',
    ['polar_token', 'polar_oat_<36-60 base62>', digits],
    ['polar_token', 'polar_pat_<36-60 base62>', digits]
  ),
  ...issuer('Lob', 'https://docs.lob.com', ['lob_key', 'live_<35 hex>'], ['lob_key', 'test_<35 hex>']),
  ...issuer(
    'EasyPost',
    'https://docs.easypost.com',
    ['easypost_key', 'EZAK<54 base62>', digits],
    ['easypost_key', 'EZTK<54 base62>', digits]
  ),
  ...issuer(
    'Shippo',
    'https://docs.goshippo.com',
    ['shippo_token', 'shippo_live_<40 anyhex>'],
    ['shippo_token', 'shippo_test_<40 anyhex>']
  ),
  ...issuer('Flexport', 'https://docs.logistics-api.flexport.com', ['flexport_token', 'shltm_<40 word>', digits]),
  ...issuer(
    'Duffel',
    'https://duffel.com/docs',
    ['duffel_token', 'duffel_live_<43 any64>', digits],
    ['duffel_token', 'duffel_test_<43 any64>', digits]
  ),
  ...issuer('Robinhood', 'https://docs.robinhood.com', ['robinhood_key', `rh-api-${uuid}`]),
  ...issuer(
    'Checkout.com',
    'https://www.checkout.com/docs',
    ['checkout_key', `sk_${uuid}`],
    ['checkout_key', `sk_test_${uuid}`]
  ),
  ...issuer(
    'Mollie',
    'https://docs.mollie.com',
    ['mollie_key', 'live_<30 base62>', { only: mixed, confidence: 0.85 }],
    ['mollie_key', 'access_<30-40 base62>', { only: mixed, confidence: 0.85 }]
  ),
  ...issuer('GoCardless', 'https://developer.gocardless.com', [
    'gocardless_token',
    'live_<40 word>',
    { only: mixed, confidence: 0.85 }
  ]),
  ...issuer(
    'Stytch',
    'https://stytch.com/docs',
    ['stytch_secret', `secret-live-<36 word>=`],
    ['stytch_secret', 'secret-test-<36 word>=']
  )
]
