// A site made of ndnd: a root, an admin and an author with certificates, content under a trust schema; and a consumer
// that verifies content by one.
//
//	trust serve MODEL ANCHOR AUTHOR NAME FILE    writes the root's certificate to ANCHOR
//	trust fetch MODEL ANCHOR NAME                writes the content to standard output
package main

import (
	"crypto/elliptic"
	"encoding/base64"
	"fmt"
	"os"
	"strings"
	"time"

	enc "github.com/named-data/ndnd/std/encoding"
	"github.com/named-data/ndnd/std/engine"
	"github.com/named-data/ndnd/std/ndn"
	spec "github.com/named-data/ndnd/std/ndn/spec_2022"
	"github.com/named-data/ndnd/std/object"
	"github.com/named-data/ndnd/std/object/storage"
	sec "github.com/named-data/ndnd/std/security"
	"github.com/named-data/ndnd/std/security/keychain"
	"github.com/named-data/ndnd/std/security/signer"
	"github.com/named-data/ndnd/std/security/trust_schema"
)

func must[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// key makes a key of an identity, with a certificate by an issuer or by itself.
func key(identity string, issuer ndn.Signer) (ndn.Signer, []byte) {
	name := sec.MakeKeyName(must(enc.NameFromStr(identity)))
	own := must(signer.KeygenEcc(name, elliptic.P256()))
	args := sec.SignCertArgs{
		Signer:    own,
		IssuerId:  enc.NewGenericComponent("site"),
		NotBefore: time.Now().Add(-time.Hour),
		NotAfter:  time.Now().Add(24 * time.Hour),
	}
	if issuer == nil {
		return own, must(sec.SelfSign(args)).Join()
	}
	request, _, err := spec.Spec{}.ReadData(enc.NewWireView(must(signer.MarshalSecret(own))))
	check(err)
	args.Signer, args.Data = issuer, request
	return own, must(sec.SignCert(args)).Join()
}

// named returns a signer whose packets name the certificate.
func named(own ndn.Signer, certificate []byte) ndn.Signer {
	return signer.WithKeyLocator(own, nameOf(certificate))
}

func nameOf(packet []byte) enc.Name {
	data, _, err := spec.Spec{}.ReadData(enc.NewBufferView(packet))
	check(err)
	return data.Name()
}

// client is an object client under the schema, with the root as its anchor.
func client(model string, root []byte) (*object.Client, ndn.KeyChain) {
	store := storage.NewMemoryStore()
	keys := keychain.NewKeyChainMem(store)
	check(keys.InsertCert(root))
	schema := must(trust_schema.NewLvsSchema(must(os.ReadFile(model))))
	trust := must(sec.NewTrustConfig(keys, schema, []enc.Name{nameOf(root)}))
	app := engine.NewBasicEngine(engine.NewDefaultFace())
	check(app.Start())
	client := object.NewClient(app, store, trust).(*object.Client)
	check(client.Start())
	return client, keys
}

func serve(model, anchor, author, name, file string) {
	root, rootCertificate := key("/site", nil)
	admin, adminCertificate := key("/site/admin/eve", named(root, rootCertificate))
	own, certificate := key("/site/author/"+author, named(admin, adminCertificate))
	check(os.WriteFile(anchor, rootCertificate, 0o644))
	client, keys := client(model, rootCertificate)
	check(keys.InsertKey(own))
	check(keys.InsertCert(adminCertificate))
	check(keys.InsertCert(certificate))
	prefix := must(enc.NameFromStr(name))
	_, err := client.Produce(ndn.ProduceArgs{
		Name:    prefix.WithVersion(enc.VersionUnixMicro),
		Content: enc.Wire{must(os.ReadFile(file))},
	})
	check(err)
	// Key locators leave out the version: the names of the keys are announced.
	keyOf := func(certificate []byte) enc.Name { return nameOf(certificate).Prefix(-2) }
	for _, announced := range []enc.Name{prefix, keyOf(adminCertificate), keyOf(certificate)} {
		client.AnnouncePrefix(ndn.Announcement{Name: announced})
	}
	fmt.Println("serving")
	select {}
}

func fetch(model, anchor, name string) {
	text := must(os.ReadFile(anchor))
	root := text
	if text[0] != 0x06 {
		root = must(base64.StdEncoding.DecodeString(strings.Join(strings.Fields(string(text)), "")))
	}
	client, _ := client(model, root)
	done := make(chan ndn.ConsumeState)
	client.ConsumeExt(ndn.ConsumeExtArgs{
		Name:     must(enc.NameFromStr(name)),
		Callback: func(state ndn.ConsumeState) { done <- state },
	})
	state := <-done
	check(state.Error())
	for _, piece := range state.Content() {
		must(os.Stdout.Write(piece))
	}
}

func main() {
	switch {
	case len(os.Args) == 7 && os.Args[1] == "serve":
		serve(os.Args[2], os.Args[3], os.Args[4], os.Args[5], os.Args[6])
	case len(os.Args) == 5 && os.Args[1] == "fetch":
		fetch(os.Args[2], os.Args[3], os.Args[4])
	default:
		check(fmt.Errorf("usage: trust serve MODEL ANCHOR AUTHOR NAME FILE | trust fetch MODEL ANCHOR NAME"))
	}
}
